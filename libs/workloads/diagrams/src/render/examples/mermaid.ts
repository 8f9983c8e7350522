import { source, type Example } from './example.js';

const mermaid = source('mermaid');

export const MERMAID: readonly Example[] = [
  {
    name: 'Sign-in',
    ...mermaid`
      sequenceDiagram
        participant U as User
        participant A as App
        participant I as Identity
        participant D as Database
        U->>A: Open account page
        A->>I: Redirect with challenge
        I->>U: Ask for password
        U->>I: Password and code
        I->>D: Find user
        D-->>I: User record
        alt Code is right
          I-->>A: Signed token
          A-->>U: Account page
        else Code is wrong
          I-->>U: Try again
        end
    `,
  },
  {
    name: 'Refund decision',
    ...mermaid`
      flowchart TD
        A([Refund asked for]) --> B{Within 30 days?}
        B -->|yes| C{Item unused?}
        B -->|no| D[Offer store credit]
        C -->|yes| E[Refund in full]
        C -->|no| F[Inspect the item]
        F --> G{Damaged?}
        G -->|yes| D
        G -->|no| E
        E --> H[(Ledger)]
        D --> H
    `,
  },
  {
    name: 'Order states',
    ...mermaid`
      stateDiagram-v2
        [*] --> Draft
        Draft --> Placed: submit
        Placed --> Paid: payment
        Placed --> Cancelled: cancel
        Paid --> Shipped: hand over
        Shipped --> Delivered: sign
        Delivered --> [*]
        Cancelled --> [*]
    `,
  },
];
