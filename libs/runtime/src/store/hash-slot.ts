const SLOTS = 16_384;
const POLYNOMIAL = 0x1021;

/** The slot of a Cluster in which a hash tag lies: its CRC16 (XMODEM). */
export function hashSlot(tag: string): number {
  let crc = 0;
  for (const byte of Buffer.from(tag)) {
    crc ^= byte << 8;
    for (let bit = 0; bit < 8; bit += 1) crc = ((crc << 1) ^ (crc & 0x8000 ? POLYNOMIAL : 0)) & 0xffff;
  }
  return crc % SLOTS;
}
