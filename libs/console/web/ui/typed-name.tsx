import type { JSX } from 'preact';

/** What cannot be undone needs the name of what it is about, typed. */
export function TypedName({
  name,
  typed,
  onType,
}: {
  readonly name: string;
  readonly typed: string;
  readonly onType: (text: string) => void;
}): JSX.Element {
  return (
    <label class="field">
      <span>
        This cannot be undone. Type <b class="mono">{name}</b> to go on.
      </span>
      <input
        name="typed-name"
        autocomplete="off"
        spellcheck={false}
        value={typed}
        onInput={(event) => onType(event.currentTarget.value)}
      />
    </label>
  );
}
