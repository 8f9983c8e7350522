type Labels = Readonly<Record<string, string>>;

/** True if the labels contain a label: a key, or `key=value`. */
export function carries(labels: Labels, label: string): boolean {
  const at = label.indexOf('=');
  if (at < 0) return Object.hasOwn(labels, label);
  const key = label.slice(0, at);
  return Object.hasOwn(labels, key) && labels[key] === label.slice(at + 1);
}
