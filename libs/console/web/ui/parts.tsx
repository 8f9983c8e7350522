import { ProblemError } from '#client';
import type { ComponentChildren, JSX } from 'preact';

export function Page({
  title,
  actions,
  children,
}: {
  readonly title: ComponentChildren;
  readonly actions?: ComponentChildren;
  readonly children: ComponentChildren;
}): JSX.Element {
  return (
    <>
      <header class="head">
        <h1 tabIndex={-1}>{title}</h1>
        <div class="actions">{actions}</div>
      </header>
      {children}
    </>
  );
}

export function Panel({
  title,
  more,
  children,
}: {
  readonly title: string;
  readonly more?: ComponentChildren;
  readonly children: ComponentChildren;
}): JSX.Element {
  return (
    <section class="panel" aria-label={title}>
      <header>
        <h2>{title}</h2>
        {more}
      </header>
      {children}
    </section>
  );
}

/** Says that there is nothing, and what to do next. */
export function Empty({
  title,
  children,
}: {
  readonly title: string;
  readonly children?: ComponentChildren;
}): JSX.Element {
  return (
    <div class="empty">
      <p class="strong">{title}</p>
      {children && <p>{children}</p>}
    </div>
  );
}

/** What went wrong, as the api says it. */
export function Trouble({
  error,
  retry,
}: {
  readonly error: Error;
  readonly retry?: () => void;
}): JSX.Element {
  const requestId = error instanceof ProblemError ? error.requestId : undefined;
  return (
    <div class="trouble" role="alert">
      <p>{error.message}</p>
      {requestId && <p class="quiet">Request {requestId}</p>}
      {retry && (
        <button type="button" onClick={retry}>
          Try again
        </button>
      )}
    </div>
  );
}

export function Loading(): JSX.Element {
  return (
    <p class="loading quiet" role="status">
      Reading…
    </p>
  );
}

/** Names and values, one a row. */
export function Facts({ of }: { readonly of: Readonly<Record<string, ComponentChildren>> }): JSX.Element {
  return (
    <dl class="facts">
      {Object.entries(of)
        .filter(([, value]) => value !== undefined && value !== null && value !== '')
        .map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
    </dl>
  );
}

export function Json({ label, value }: { readonly label: string; readonly value: unknown }): JSX.Element {
  const text = typeof value === 'string' ? value : JSON.stringify(value, null, 2);
  return (
    <pre tabIndex={0} aria-label={label} role="group">
      {text}
    </pre>
  );
}

export function Stat({
  name,
  value,
  tone = '',
  note,
}: {
  readonly name: string;
  readonly value: string;
  readonly tone?: string;
  readonly note?: string | undefined;
}): JSX.Element {
  return (
    <div class={`stat ${tone}`}>
      <dt>{name}</dt>
      <dd>
        {value}
        {note && <small>{note}</small>}
      </dd>
    </div>
  );
}
