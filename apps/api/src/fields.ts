export { Cursor, Duration, Offset } from '#http';
