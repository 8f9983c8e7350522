import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { useRead } from '../data/use-read.js';
import { go } from '../router.js';
import { Dialog } from '../ui/dialog.js';
import { findings } from './findings.js';
import { isSearching } from './keyboard.js';

export function Palette(): JSX.Element | null {
  return isSearching.value ? <Search /> : null;
}

/** Finds pages, owners, queues, kinds and jobs. Arrows choose, Enter goes there. */
function Search(): JSX.Element {
  const [text, setText] = useState('');
  const [chosen, setChosen] = useState(0);
  const found = useRead(() => findings(text.trim()), [text.trim()]).data ?? [];
  const at = Math.min(chosen, found.length - 1);
  const close = (): void => void (isSearching.value = false);
  const open = (to: string | undefined): void => {
    if (to === undefined) return;
    close();
    go(to);
  };
  const press = (event: KeyboardEvent): void => {
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
    if (step !== 0) {
      event.preventDefault();
      setChosen((at + step + found.length) % Math.max(1, found.length));
    } else if (event.key === 'Enter') open(found[at]?.to);
  };
  return (
    <Dialog title="Find" onClose={close}>
      <input
        type="text"
        class="query"
        role="combobox"
        aria-expanded={found.length > 0}
        aria-controls="found"
        aria-activedescendant={found[at] ? `found-${at}` : undefined}
        aria-label="Find a page, an owner, a queue, a kind, or a job by its id"
        placeholder="An owner (trip:4), a job’s id, a queue, a page"
        autocomplete="off"
        spellcheck={false}
        autofocus
        value={text}
        onKeyDown={press}
        onInput={(event) => {
          setText(event.currentTarget.value);
          setChosen(0);
        }}
      />
      <ul id="found" role="listbox" aria-label="Found">
        {found.map(({ name, what, to }, i) => (
          <li
            key={to}
            id={`found-${i}`}
            role="option"
            aria-selected={i === at}
            onClick={() => open(to)}
            onMouseEnter={() => setChosen(i)}
          >
            <span>{name}</span> <span class="quiet">{what}</span>
          </li>
        ))}
      </ul>
    </Dialog>
  );
}
