import { source, type Example } from './example.js';

const bytefield = source('bytefield');

export const BYTEFIELD: readonly Example[] = [
  {
    name: 'UDP packet',
    ...bytefield`
      (def boxes-per-row 32)
      (def box-width 22)
      (draw-column-headers {:labels (map str (range 32)) :font-size 10})
      (draw-box "Source port" {:span 16 :fill "#e8f1fb"})
      (draw-box "Destination port" {:span 16 :fill "#e8f1fb"})
      (draw-box "Length" {:span 16 :fill "#fdf3e1"})
      (draw-box "Checksum" {:span 16 :fill "#fdf3e1"})
      (draw-gap "Payload")
      (draw-bottom)
    `,
  },
  {
    name: 'Message header',
    ...bytefield`
      (defattrs :bg-green {:fill "#e6f6ea"})
      (defattrs :bg-blue {:fill "#e8f1fb"})
      (draw-column-headers)
      (draw-box "magic" [{:span 4} :bg-blue])
      (draw-box "ver" [{:span 1} :bg-green])
      (draw-box "type" [{:span 1} :bg-green])
      (draw-box "flags" [{:span 2} :bg-green])
      (draw-box "length" {:span 4})
      (draw-box "crc" {:span 4})
      (draw-gap "body")
      (draw-bottom)
    `,
  },
];
