import { source, type Example } from './example.js';

const graphviz = source('graphviz');

export const GRAPHVIZ: readonly Example[] = [
  {
    name: 'Delivery pipeline',
    ...graphviz`
      digraph pipeline {
        rankdir=LR
        node [shape=box style="rounded,filled" fillcolor="#eef4fb" color="#3b6ea5" fontname="Helvetica"]
        edge [color="#5b6b7b" fontname="Helvetica" fontsize=11]

        push [label="Push" shape=oval fillcolor="#fff6dd" color="#c9971c"]
        subgraph cluster_ci {
          label="Continuous integration"; style="rounded,dashed"; color="#9aa7b4"; fontname="Helvetica"
          lint [label="Lint"]; test [label="Unit tests"]; build [label="Build image"]
        }
        stage [label="Staging"]
        smoke [label="Smoke tests" shape=diamond style=filled fillcolor="#f3eefb" color="#7a4fb5"]
        prod [label="Production" fillcolor="#e6f6ea" color="#2f8f4e"]

        push -> lint; push -> test
        lint -> build; test -> build
        build -> stage [label="image"]
        stage -> smoke
        smoke -> prod [label="passed"]
        smoke -> push [label="failed" constraint=false style=dashed color="#b5403a" fontcolor="#b5403a"]
      }
    `,
  },
  {
    name: 'Orders schema',
    ...graphviz`
      digraph orders {
        graph [rankdir=LR nodesep=0.6 fontname="Helvetica"]
        node [shape=plain fontname="Helvetica" fontsize=12]
        edge [arrowhead=crow arrowtail=none dir=both color="#52606d"]

        customer [label=<
          <table border="0" cellborder="1" cellspacing="0" cellpadding="6" color="#9fb3c8">
            <tr><td bgcolor="#334e68"><font color="white"><b>customer</b></font></td></tr>
            <tr><td align="left" port="id">id : uuid</td></tr>
            <tr><td align="left">email : text</td></tr>
          </table>>]
        orders [label=<
          <table border="0" cellborder="1" cellspacing="0" cellpadding="6" color="#9fb3c8">
            <tr><td bgcolor="#334e68"><font color="white"><b>order</b></font></td></tr>
            <tr><td align="left" port="id">id : uuid</td></tr>
            <tr><td align="left" port="customer">customer_id : uuid</td></tr>
            <tr><td align="left">placed_at : timestamp</td></tr>
          </table>>]
        line [label=<
          <table border="0" cellborder="1" cellspacing="0" cellpadding="6" color="#9fb3c8">
            <tr><td bgcolor="#334e68"><font color="white"><b>line</b></font></td></tr>
            <tr><td align="left" port="order">order_id : uuid</td></tr>
            <tr><td align="left">sku : text</td></tr>
            <tr><td align="left">quantity : int</td></tr>
          </table>>]

        customer:id -> orders:customer
        orders:id -> line:order
      }
    `,
  },
  {
    name: 'Connection states',
    ...graphviz`
      digraph connection {
        rankdir=LR
        node [shape=circle fixedsize=true width=1.15 style=filled fillcolor="#f5f7fa" fontname="Helvetica" fontsize=11]
        edge [fontname="Helvetica" fontsize=10]
        start [shape=point width=0.15]
        closed [shape=doublecircle label="Closed"]
        start -> Idle
        Idle -> Connecting [label="dial"]
        Connecting -> Open [label="accepted"]
        Connecting -> Backoff [label="refused"]
        Backoff -> Connecting [label="timer"]
        Open -> Draining [label="shutdown"]
        Open -> Backoff [label="reset"]
        Draining -> closed [label="empty"]
      }
    `,
  },
];
