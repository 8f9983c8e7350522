// Valkey keeps its clients in a table indexed by file descriptor, sized for 10,000 clients and some to spare: the
// numbers its wasm leaves to the host begin at 4096 and end below 10,128.
const FIRST_FD = 4096;
const PLACES = 6_000;

/** File descriptors, the lowest free one first: numbers that only grew would leave the table after 6,000 clients. */
export class FdTable<Entry> {
  private readonly places: (Entry | undefined)[] = [];
  private lowestFree = 0;

  /** Undefined when every place is taken. */
  open(entry: Entry): number | undefined {
    let place = this.lowestFree;
    while (this.places[place] !== undefined) place++;
    this.lowestFree = place;
    if (place >= PLACES) return undefined;
    this.places[place] = entry;
    this.lowestFree = place + 1;
    return FIRST_FD + place;
  }

  get(fd: number): Entry | undefined {
    return this.places[fd - FIRST_FD];
  }

  close(fd: number): void {
    const place = fd - FIRST_FD;
    if (this.places[place] === undefined) return;
    this.places[place] = undefined;
    this.lowestFree = Math.min(this.lowestFree, place);
  }

  entries(): Entry[] {
    return this.places.filter((entry) => entry !== undefined);
  }
}
