import type { JSX } from 'preact';
import { Dialog } from '../ui/dialog.js';
import { isHelping } from './keyboard.js';
import { ALL_PLACES } from './places.js';

export function Help(): JSX.Element | null {
  if (!isHelping.value) return null;
  const keys: [string, string][] = [
    ['/ or Ctrl K', 'find anything'],
    ['r', 'read this page again'],
    ['Esc', 'close what is open'],
    ['?', 'these keys'],
  ];
  const places = ALL_PLACES.filter(({ key }) => key).map(({ name, key }): [string, string] => [
    `g ${key}`,
    name,
  ]);
  return (
    <Dialog title="Keys" onClose={() => (isHelping.value = false)}>
      <dl class="keys">
        {[...keys, ...places].map(([key, what]) => (
          <div key={key}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}
