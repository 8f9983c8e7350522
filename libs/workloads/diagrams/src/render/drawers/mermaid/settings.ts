import type { MermaidConfig } from 'mermaid';

/** `secure` are the settings that a source cannot change. */
export const SETTINGS: MermaidConfig = {
  startOnLoad: false,
  logLevel: 'fatal',
  securityLevel: 'strict',
  htmlLabels: false,
  flowchart: { htmlLabels: false },
  class: { htmlLabels: false },
  fontFamily: '"DejaVu Sans", Verdana, sans-serif',
  // Shapes are drawn with small random curves, unless these are given a seed.
  handDrawnSeed: 1,
  maxTextSize: 200_000,
  maxEdges: 2_000,
  suppressErrorRendering: true,
  secure: [
    'secure',
    'securityLevel',
    'startOnLoad',
    'logLevel',
    'maxTextSize',
    'maxEdges',
    'suppressErrorRendering',
    'htmlLabels',
    'fontFamily',
    'dompurifyConfig',
  ],
};
