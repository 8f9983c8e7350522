export const STYLE = `
:root { --ink: #14213d; --soft: #5c677d; --line: #d8dee9; --paper: #f5f7fa; --card: #fff; --go: #0a7d5a; --stop: #b3261e; --note: #b45309; }
* { box-sizing: border-box; }
body { margin: 0; font: 16px/1.45 system-ui, sans-serif; color: var(--ink); background: var(--paper); }
header, main { max-width: 1180px; margin: 0 auto; padding: 1.25rem; }
header p { margin: .25rem 0 0; color: var(--soft); max-width: 70ch; }
h1 { margin: 0; font-size: 1.6rem; }
h2 { margin: 0 0 .75rem; font-size: 1.05rem; }
main { display: grid; grid-template-columns: 300px 1fr; gap: 1.25rem; padding-top: 0; align-items: start; }
.rider { background: var(--card); border: 1px solid var(--line); border-radius: 16px; padding: 1.1rem; min-height: 470px; }
.phones { display: grid; grid-template-columns: repeat(3, minmax(0, 1fr)); gap: 1.25rem; }
.phone { background: #10182c; border-radius: 34px; padding: 14px; box-shadow: 0 10px 30px #14213d33; }
.screen { background: var(--card); border-radius: 22px; height: 442px; padding: 1rem; display: flex; flex-direction: column; overflow: hidden; }
.top { display: flex; justify-content: space-between; align-items: center; }
.top h2 { margin: 0; }
.top label { display: flex; gap: .4rem; align-items: center; font-size: .85rem; color: var(--soft); }
.stage { flex: 1; display: flex; flex-direction: column; justify-content: center; text-align: center; gap: .6rem; min-height: 190px; }
.stage .big { font-size: 1.15rem; font-weight: 600; }
.stage .small { font-size: .85rem; color: var(--soft); }
.offer { border: 2px solid var(--go); border-radius: 14px; padding: .9rem .7rem; }
.trip { background: #e7f5ef; border-radius: 14px; padding: .9rem .7rem; }
.bar { height: 6px; border-radius: 3px; background: var(--line); overflow: hidden; margin: .6rem 0; }
.bar i { display: block; height: 100%; background: var(--go); }
.log { list-style: none; margin: .5rem 0 0; padding: .5rem 0 0; border-top: 1px solid var(--line); font-size: .8rem; color: var(--soft); height: 118px; overflow: hidden; }
button { font: inherit; font-weight: 600; border: 0; border-radius: 10px; padding: .55rem .9rem; background: var(--ink); color: #fff; cursor: pointer; }
button:focus-visible, input:focus-visible { outline: 3px solid #4c8bf5; outline-offset: 2px; }
button.go { background: var(--go); }
button.stop { background: #fff; color: var(--stop); box-shadow: inset 0 0 0 1.5px var(--stop); }
.row { display: flex; gap: .5rem; justify-content: center; }
.row button { flex: 1; padding: .55rem .3rem; }
#ask { width: 100%; padding: .8rem; font-size: 1.05rem; }
#trips { list-style: none; padding: 0; margin: 1rem 0 0; display: grid; gap: .6rem; }
#trips li { border: 1px solid var(--line); border-radius: 12px; padding: .6rem .7rem; display: grid; grid-template-columns: 1fr auto; align-items: center; gap: .2rem .5rem; }
#trips .what { font-weight: 600; }
#trips .who { font-size: .85rem; color: var(--soft); grid-column: 1; }
#trips button { grid-row: 1 / span 2; grid-column: 2; padding: .35rem .7rem; font-size: .9rem; }
.PENDING { color: var(--note); } .ACCEPTED, .COMPLETED { color: var(--go); } .CANCELLED, .EXPIRED { color: var(--stop); }
#said { min-height: 1.5em; color: var(--stop); font-size: .9rem; }
details { font-size: .85rem; color: var(--soft); margin-top: .5rem; }
@media (max-width: 900px) { main { grid-template-columns: 1fr; } .rider { min-height: 0; } }
@media (max-width: 680px) { .phones { grid-template-columns: 1fr; } }
`;
