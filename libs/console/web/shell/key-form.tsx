import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { enter, hasKey, isStatus, refusal } from '../data/session.js';
import { Loading, Trouble } from '../ui/parts.js';

/** Asks for the key, once per tab. An api without keys lets everything on the machine in. */
export function KeyForm(): JSX.Element {
  const [typed, setTyped] = useState('');
  const error = refusal.value;
  const submit = (event: Event): void => {
    event.preventDefault();
    void enter(typed.trim());
  };
  return (
    <main class="door">
      <h1>Mooring</h1>
      {!error && <Loading />}
      {error && !isStatus(error, 401, 403) && <Trouble error={error} retry={() => void enter()} />}
      {isStatus(error, 401, 403) && (
        <form onSubmit={submit}>
          {hasKey() && <p role="alert">{error?.message}</p>}
          <label class="field">
            <span>Key</span>
            <input
              name="key"
              type="password"
              autocomplete="off"
              spellcheck={false}
              value={typed}
              onInput={(event) => setTyped(event.currentTarget.value)}
            />
          </label>
          <button type="submit" class="primary" disabled={typed.trim() === ''}>
            Open the console
          </button>
          <p class="quiet">
            A key of <code>API_KEYS</code> with the scope <code>read</code>. It stays in this tab, and is sent
            to this address only. What the key may not do is not shown.
          </p>
        </form>
      )}
    </main>
  );
}
