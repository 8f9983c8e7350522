/** Of a picture that cannot be read. */
const UNKNOWN = { width: 100, height: 100 };
const DATA = /^data:image\/(png|jpeg|gif);base64,/;

type PictureSize = typeof UNKNOWN;
type Reads = (bytes: Buffer) => PictureSize | undefined;

const READS: Record<string, Reads> = {
  png: (bytes) =>
    bytes.length < 24 ? undefined : { width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) },
  gif: (bytes) =>
    bytes.length < 10 ? undefined : { width: bytes.readUInt16LE(6), height: bytes.readUInt16LE(8) },
  jpeg: (bytes) => {
    // Its segments follow each other; the one with the size begins with C0 to CF, save four others of these.
    for (let at = 2; at + 9 < bytes.length; at += 2 + bytes.readUInt16BE(at + 2)) {
      const kind = bytes[at + 1]!;
      if (kind >= 0xc0 && kind <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(kind))
        return { width: bytes.readUInt16BE(at + 7), height: bytes.readUInt16BE(at + 5) };
    }
    return undefined;
  },
};

/** How large a picture is whose address holds all of it. Nothing is loaded: of any other the size is a guess. */
export function pictureSize(address: string): PictureSize {
  const [prefix, kind] = DATA.exec(address) ?? [];
  const size = kind && READS[kind]?.(Buffer.from(address.slice(prefix!.length), 'base64'));
  return size || UNKNOWN;
}
