export const STYLE = `
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; --line: #8884; --accent: #0a6b78; }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 72rem; padding: 1.5rem; }
h1 { font-size: 1.6rem; margin: 0; }
h2 { font-size: 1rem; margin: 1.5rem 0 0.5rem; }
header p { margin: 0.25rem 0 0; max-width: 60ch; }
main { display: grid; gap: 2rem; grid-template-columns: minmax(18rem, 24rem) 1fr; }
@media (max-width: 50rem) { main { grid-template-columns: 1fr; } }
button { background: var(--accent); border: 0; border-radius: 6px; color: #fff; cursor: pointer; font: inherit; padding: 0.5rem 0.9rem; }
button:disabled { cursor: default; opacity: 0.4; }
.buttons { display: flex; flex-wrap: wrap; gap: 0.5rem; margin: 0; }
dl { display: flex; gap: 2rem; margin: 1.25rem 0 0; }
dt { font-size: 0.8rem; opacity: 0.7; }
dd { font-size: 2rem; font-variant-numeric: tabular-nums; line-height: 1.1; margin: 0; }
ol { list-style: none; margin: 0; padding: 0; }
li { border-left: 4px solid var(--line); margin: 0 0 0.5rem; padding: 0.25rem 0.75rem; }
li[data-state=running] { border-color: #d99000; }
li[data-state=completed] { border-color: #4c9a2a; }
li[data-state=failed], li[data-state=cancelled] { border-color: #b3261e; }
li small { display: block; opacity: 0.7; overflow-wrap: anywhere; }
iframe { background: #fff; border: 1px solid var(--line); border-radius: 6px; height: 28rem; width: 100%; }
`;
