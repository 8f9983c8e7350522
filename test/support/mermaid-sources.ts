/** A diagram with the words that its picture must show. */
export interface WordedSource {
  readonly source: string;
  readonly words: string;
}

/** A common source of every type that Mermaid 11 draws, by the header it begins with. */
export const MERMAID_SOURCES: Readonly<Record<string, WordedSource>> = {
  flowchart: {
    source: `flowchart LR
  intake[Parcel arrives] --> scan{Label readable?}
  scan -->|yes| shelf[(Put on shelf)]
  scan -- no --> desk([Ask the desk])
  subgraph Yard
    shelf -.-> van[[Load the van]]
  end
  desk ==> van`,
    words: 'Parcel arrives Label readable? yes no Put on shelf Ask the desk Yard Load the van',
  },
  graph: {
    source:
      'graph TD; A[Kettle on]-->|boils| B(Pour water); B-->C{Strong enough}; C-->D>Drink it]; C-->E((Wait))',
    words: 'Kettle on boils Pour water Strong enough Drink it Wait',
  },
  'flowchart-elk': {
    source: 'flowchart-elk TD\n  first[Draft text] --> second[Second reader]\n  second -- changes --> first',
    words: 'Draft text Second reader changes',
  },
  'swimlane-beta': {
    source: `swimlane-beta LR
  subgraph Shop
    order[Take order]
  end
  subgraph Kitchen
    bake[Bake bread]
  end
  order --> bake`,
    words: 'Shop Take order Kitchen Bake bread',
  },
  sequenceDiagram: {
    source: `sequenceDiagram
  autonumber
  actor Guest
  participant D as Front desk
  Guest->>+D: Ask for a room
  Note over Guest,D: Two nights
  loop Every morning
    D-->>Guest: Serve breakfast
  end
  alt Room is free
    D->>Guest: Hand over key
  else Fully booked
    D--x Guest: Send away
  end
  deactivate D`,
    words:
      'Guest Front desk Ask for a room Two nights Every morning Serve breakfast Room is free Hand over key Fully booked Send away',
  },
  classDiagram: {
    source: `classDiagram
  class Vessel {
    <<abstract>>
    +String name
    +sail(int knots) bool
  }
  Vessel <|-- Ferry : carries people
  Ferry "1" o-- "many" Cabin
  note for Cabin "Sold by night"`,
    words: 'Vessel «abstract» +String name +sail(int knots) Ferry carries people 1 many Cabin Sold by night',
  },
  'classDiagram-v2': {
    source:
      'classDiagram-v2\n  direction LR\n  Account *-- Entry : holds\n  Entry : +Money amount\n  Entry : +post()',
    words: 'Account Entry holds +Money amount +post()',
  },
  stateDiagram: {
    source: 'stateDiagram\n  [*] --> Idle\n  Idle --> Running : start pressed\n  Running --> [*]',
    words: 'Idle Running start pressed',
  },
  'stateDiagram-v2': {
    source: `stateDiagram-v2
  [*] --> Moored
  state Voyage {
    Leaving --> Cruising : pilot leaves
    Cruising --> Arriving
  }
  Moored --> Voyage : cast off
  Voyage --> Moored : make fast
  note right of Moored
    Crew may land
  end note`,
    words: 'Moored Voyage Leaving pilot leaves Cruising Arriving cast off make fast Crew may land',
  },
  erDiagram: {
    source: `erDiagram
  READER ||--o{ LOAN : borrows
  LOAN }o--|| BOOK : "is of"
  BOOK {
    string isbn PK "printed inside"
    int pages
  }`,
    words: 'READER LOAN borrows BOOK is of string isbn PK printed inside int pages',
  },
  gantt: {
    source: `gantt
  title Harbour works
  dateFormat YYYY-MM-DD
  section Ground
    Survey of seabed :done, a, 2026-03-02, 5d
    Dredging :active, b, after a, 12d
  section Wall
    Sheet piles :crit, c, after b, 20d
    Opening :milestone, after c, 0d`,
    words: 'Harbour works Ground Survey of seabed Dredging Wall Sheet piles Opening',
  },
  pie: {
    source: 'pie showData title Cargo by weight\n  "Timber" : 42\n  "Grain" : 31\n  "Salt" : 7.5',
    words: 'Cargo by weight Timber Grain Salt [42] [31]',
  },
  quadrantChart: {
    source: `quadrantChart
  title Which repairs first
  x-axis Cheap --> Dear
  y-axis Minor --> Urgent
  quadrant-1 Plan now
  quadrant-2 Do today
  quadrant-3 Later
  quadrant-4 Question it
  Leaking roof: [0.3, 0.9]
  New paint: [0.6, 0.2]`,
    words:
      'Which repairs first Cheap Dear Minor Urgent Plan now Do today Later Question it Leaking roof New paint',
  },
  requirementDiagram: {
    source: `requirementDiagram
  requirement braking {
    id: 7
    text: Stop within forty metres
    risk: high
    verifymethod: test
  }
  element pedal {
    type: hardware
    docref: drawings/pedal
  }
  pedal - satisfies -> braking`,
    words: 'braking Stop within forty metres High Test pedal hardware drawings/pedal satisfies',
  },
  gitGraph: {
    source: `gitGraph
  commit id: "keel laid"
  branch rigging
  commit id: "mast up" tag: "v0.2"
  checkout main
  commit id: "hull painted" type: HIGHLIGHT
  merge rigging id: "joined"`,
    words: 'main rigging keel laid mast up v0.2 hull painted joined',
  },
  C4Context: {
    source: `C4Context
  title Library at large
  Person(reader, "Reader", "Borrows books")
  System(desk, "Lending desk", "Keeps the loans")
  System_Ext(post, "Post office", "Sends reminders")
  Rel(reader, desk, "Asks for a title")
  Rel(desk, post, "Hands letters to", "daily")`,
    words:
      'Library at large Reader Borrows books Lending desk Keeps the loans Post office Sends reminders Asks for a title Hands letters to',
  },
  C4Container: {
    source: `C4Container
  title Inside the desk
  Container_Boundary(c, "Lending") {
    Container(web, "Web site", "HTML", "Shows titles")
    ContainerDb(db, "Loan store", "SQL", "All loans")
  }
  Rel(web, db, "Reads from")`,
    words: 'Inside the desk Lending Web site Shows titles Loan store All loans Reads from',
  },
  C4Component: {
    source: `C4Component
  Component(a, "Search page", "View", "Finds titles")
  Component(b, "Catalogue", "Module", "Knows titles")
  Rel(a, b, "Queries")`,
    words: 'Search page Finds titles Catalogue Knows titles Queries',
  },
  C4Dynamic: {
    source: `C4Dynamic
  ContainerDb(d, "Ledger", "SQL", "Entries")
  Container(p, "Till", "App", "Takes money")
  RelIndex(1, p, d, "Books the sale")`,
    words: 'Ledger Entries Till Takes money Books the sale',
  },
  C4Deployment: {
    source: `C4Deployment
  Deployment_Node(host, "Small server", "Linux") {
    Container(app, "Till service", "Node", "Answers tills")
  }`,
    words: 'Small server Till service Answers tills',
  },
  journey: {
    source: `journey
  title A day at sea
  section Morning
    Raise anchor: 4: Crew
    Coffee: 5: Crew, Cook
  section Evening
    Night watch: 2: Mate`,
    words: 'A day at sea Morning Raise anchor Coffee Evening Night watch Crew Cook Mate',
  },
  timeline: {
    source: `timeline
  title Lights of the cape
  section Fire
    1790 : Coal basket : Two keepers
  section Glass
    1851 : First lens
    1924 : Electric lamp`,
    words: 'Lights of the cape Fire 1790 Coal basket Two keepers Glass 1851 First lens 1924 Electric lamp',
  },
  mindmap: {
    source: `mindmap
  root((Allotment))
    Beds
      [Early beans]
      (Late kale)
        Frost cloth
    Tools
      {{Long spade}}
      ))Loud mower((
      )Rain cloud(`,
    words: 'Allotment Beds Early beans Late kale Frost cloth Tools Long spade Loud mower Rain cloud',
  },
  kanban: {
    source: `kanban
  todo[To do]
    a[Order rope]
    b[Call the yard]@{ assigned: 'Ines', ticket: 'K-12' }
  done[Finished]
    c[Sell old sail]`,
    words: 'To do Order rope Call the yard Ines K-12 Finished Sell old sail',
  },
  sankey: {
    source: 'sankey\n\nRiver,Canal,30\nRiver,Sea,50\nCanal,Fields,22\nCanal,Town,8',
    words: 'River Canal Sea Fields Town',
  },
  xychart: {
    source: `xychart
  title "Ferries a month"
  x-axis [jan, feb, mar, apr]
  y-axis "Crossings" 0 --> 90
  bar [20, 35, 61, 88]
  line [18, 30, 55, 80]`,
    words: 'Ferries a month jan feb mar apr Crossings',
  },
  block: {
    source: `block
  columns 3
  pump["Feed pump"] space tank[("Header tank")]
  block:group:3
    left["Left valve"] right(("Right valve"))
  end
  pump -- "fills" --> tank`,
    words: 'Feed pump Header tank Left valve Right valve fills',
  },
  packet: {
    source: 'packet\ntitle Beacon frame\n0-7: "Preamble"\n8-23: "Station"\n24-31: "Check sum"',
    words: 'Beacon frame Preamble Station Check sum',
  },
  'architecture-beta': {
    source: `architecture-beta
  group quay(cloud)[Quay side]
  service crane(server)[Crane control] in quay
  service log(database)[Lift log] in quay
  service gate(internet)[Gate house]
  crane:R --> L:log
  gate:B --> T:crane`,
    words: 'Quay side Crane control Lift log Gate house',
  },
  'radar-beta': {
    source: `radar-beta
  title Boats compared
  axis speed["Speed"], room["Room"], price["Price"], upkeep["Upkeep"]
  curve a["Sloop"]{4, 2, 3, 5}
  curve b["Barge"]{1, 5, 4, 3}
  max 5`,
    words: 'Boats compared Speed Room Price Upkeep Sloop Barge',
  },
  'treemap-beta': {
    source: `treemap-beta
"Stores"
  "Dry goods"
    "Flour": 40
    "Beans": 25
  "Paint": 18`,
    words: 'Stores Dry goods Flour Beans Paint',
  },
  'treeView-beta': {
    source: 'treeView-beta\n  "harbour"\n    "charts"\n      "north.png"\n    "tides"',
    words: 'harbour charts north.png tides',
  },
  'venn-beta': {
    source: `venn-beta
  title Who may board
  set A["Ticket held"]
  set B["Crew list"]
  union A,B["Both at once"]`,
    words: 'Who may board Ticket held Crew list Both at once',
  },
  ishikawa: {
    source: 'ishikawa\n  Late ferry\n    Weather\n      Thick fog\n    Engine\n      Worn belt',
    words: 'Late ferry Weather Thick fog Engine Worn belt',
  },
  'wardley-beta': {
    source: `wardley-beta
title Tide tables
anchor Sailor [0.95, 0.6]
component Almanac [0.7, 0.5]
component Gauge data [0.4, 0.8]
Sailor -> Almanac
Almanac -> Gauge data
note "Bought each year" [0.5, 0.3]`,
    words: 'Tide tables Sailor Almanac Gauge data Bought each year',
  },
  'cynefin-beta': {
    source: `cynefin-beta
  title Harbour problems
  complex
    "Shifting sands"
  complicated
    "Crane wear"
  clear
    "Lamp is out"
  chaotic
    "Oil spill"
  complex --> complicated : "Survey done"`,
    words: 'Harbour problems Shifting sands Crane wear Lamp is out Oil spill Survey done',
  },
  eventmodeling: {
    source:
      'eventmodeling\n\ntf 01 ui TicketWindow\ntf 02 cmd SellTicket\ntf 03 evt TicketSold\ntf 04 rmo Passengers',
    words: 'TicketWindow SellTicket TicketSold Passengers',
  },
  'railroad-beta': {
    source: 'railroad-beta\ngreeting = sequence(terminal("ahoy"), nonterminal("vessel"));',
    words: 'greeting ahoy vessel',
  },
  'railroad-ebnf-beta': {
    source: 'railroad-ebnf-beta\nbearing = digit , { digit } , "degrees" ;',
    words: 'bearing digit degrees',
  },
  'railroad-abnf-beta': {
    source: 'railroad-abnf-beta\ncall-sign = 2letter number ;\nletter = "K" / "W" ;',
    words: 'call-sign letter number K W',
  },
  'railroad-peg-beta': {
    source: 'railroad-peg-beta\nknot <- "bowline" / hitch ;\nhitch <- "clove" "hitch" ;',
    words: 'knot bowline hitch clove',
  },
  info: { source: 'info', words: 'v11' },
};
