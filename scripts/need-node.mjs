const OLDEST = [20, 19];

/** Exits with a message if this Node is too old. */
export function needNode() {
  const parts = process.versions.node.split('.').map(Number);
  if (parts[0] > OLDEST[0] || (parts[0] === OLDEST[0] && parts[1] >= OLDEST[1])) return;
  console.error(
    'Mooring needs Node ' + OLDEST.join('.') + ' or newer; this is ' + process.versions.node + '.',
  );
  process.exit(1);
}
