import { source, type Example } from './example.js';

const d2 = source('d2');

export const D2: readonly Example[] = [
  {
    name: 'Web platform',
    ...d2`
      direction: right
      visitor: Visitor {shape: person}
      edge: Edge {
        cdn: CDN {shape: cloud}
        gateway: API gateway
        cdn -> gateway
      }
      services: Services {
        catalogue: Catalogue
        basket: Basket
        payments: Payments {style.fill: "#fde8d7"}
      }
      data: Data {
        products: Products {shape: cylinder}
        orders: Orders {shape: cylinder}
        events: Events {shape: queue}
      }
      visitor -> edge.cdn: HTTPS
      edge.gateway -> services.catalogue: search
      edge.gateway -> services.basket: add
      services.basket -> services.payments: charge
      services.catalogue -> data.products
      services.basket -> data.orders
      services.payments -> data.events: paid {style.stroke-dash: 4}
    `,
  },
  {
    name: 'Ticket life',
    ...d2`
      Open: {style.fill: "#e3f2fd"}
      In progress: {style.fill: "#fff8e1"}
      Review: {style.fill: "#f3e5f5"}
      Done: {style.fill: "#e8f5e9"; style.bold: true}
      Open -> In progress: assign
      In progress -> Review: push
      Review -> In progress: changes asked for {style.stroke: "#c62828"}
      Review -> Done: approve
      Open -> Done: duplicate {style.stroke-dash: 3}
    `,
  },
];
