import type { ComponentChildren, JSX } from 'preact';
import { useState } from 'preact/hooks';
import { noteRefusal } from '../data/session.js';
import { say } from './notice.js';

/** A button that does one thing, and tells how it ended. */
export function Action({
  run,
  done,
  tone = '',
  disabled = false,
  children,
}: {
  readonly run: () => Promise<unknown>;
  readonly done?: string;
  readonly tone?: string;
  readonly disabled?: boolean;
  readonly children: ComponentChildren;
}): JSX.Element {
  const [isBusy, setBusy] = useState(false);
  const press = async (): Promise<void> => {
    setBusy(true);
    try {
      await run();
      if (done) say(done);
    } catch (error) {
      noteRefusal(error);
      say((error as Error).message, 'bad');
    } finally {
      setBusy(false);
    }
  };
  return (
    <button
      type="button"
      class={tone}
      disabled={disabled || isBusy}
      aria-busy={isBusy}
      onClick={() => void press()}
    >
      {children}
    </button>
  );
}
