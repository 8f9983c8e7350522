export async function handle() {
  return 'by name';
}
