import type { ComponentChildren, JSX } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';

/** The browser keeps the focus in it, and Esc closes it. */
export function Dialog({
  title,
  onClose,
  children,
}: {
  readonly title: string;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
}): JSX.Element {
  const dialog = useRef<HTMLDialogElement>(null);
  // Before the next frame: a key that follows at once is for the dialog.
  useLayoutEffect(() => {
    const { current } = dialog;
    if (!current || current.open) return;
    current.showModal();
    // Of its own accord the browser would choose the button that closes it.
    (
      current.querySelector<HTMLElement>('input:not([type=checkbox])') ?? current.querySelector('h2')
    )?.focus();
  }, []);
  return (
    <dialog ref={dialog} aria-label={title} onClose={onClose}>
      <header>
        <h2 tabIndex={-1}>{title}</h2>
        <button type="button" class="plain" aria-label="Close" onClick={onClose}>
          ✕
        </button>
      </header>
      {children}
    </dialog>
  );
}
