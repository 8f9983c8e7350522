export const STYLE = `
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; --line: #8884; --accent: #0a6b78; --wrong: #b3261e; }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 84rem; padding: 1.5rem; }
h1 { font-size: 1.6rem; margin: 0; }
h2 { font-size: 1rem; margin: 1.5rem 0 0.5rem; }
header p { margin: 0.25rem 0 0; max-width: 70ch; }
main { display: grid; gap: 2rem; grid-template-columns: minmax(18rem, 2fr) 3fr; }
@media (max-width: 55rem) { main { grid-template-columns: 1fr; } }
.choices { display: flex; flex-wrap: wrap; gap: 0.5rem 1rem; margin: 0 0 0.5rem; }
select, input { font: inherit; padding: 0.2rem; }
#example { max-width: 14rem; }
textarea { border: 1px solid var(--line); border-radius: 6px; font: 0.85rem/1.45 ui-monospace, monospace; height: 26rem; padding: 0.75rem; resize: vertical; tab-size: 2; width: 100%; }
textarea[aria-invalid=true] { border-color: var(--wrong); }
#said { color: var(--wrong); margin: 0.5rem 0; min-height: 1.5rem; white-space: pre-wrap; }
#facts { margin: 0 0 0.5rem; min-height: 1.5rem; opacity: 0.8; }
figure { align-items: center; background: #fff; border: 1px solid var(--line); border-radius: 6px; display: flex; height: 30rem; justify-content: center; margin: 0; overflow: auto; padding: 1rem; }
figure img { max-height: 100%; max-width: 100%; }
figure img[data-old=true] { opacity: 0.35; }
a { color: var(--accent); }
`;
