/** Memory of the wasm module. Growing it detaches all views, so views must not be kept. */
export class LinearMemory {
  private source: { readonly buffer: ArrayBuffer } = { buffer: new ArrayBuffer(0) };
  private byteView = new Uint8Array(0);
  private wordView = new Int32Array(0);

  /** The imports are made before the memory is: they hold this, and it is filled in afterwards. */
  attach(source: { readonly buffer: ArrayBuffer }): void {
    this.source = source;
  }

  get bytes(): Uint8Array {
    if (this.byteView.length === 0) this.byteView = new Uint8Array(this.source.buffer);
    return this.byteView;
  }

  get words(): Int32Array {
    if (this.wordView.length === 0) this.wordView = new Int32Array(this.source.buffer);
    return this.wordView;
  }

  // Above 2 GiB a pointer arrives from wasm as a negative number; `>>> 0` and `>>> 2` make it whole again.

  slice(pointer: number, length: number): Uint8Array {
    const start = pointer >>> 0;
    return this.bytes.subarray(start, start + length);
  }

  word(pointer: number): number {
    return this.words[pointer >>> 2] ?? 0;
  }

  setWord(pointer: number, value: number): void {
    this.words[pointer >>> 2] = value;
  }
}
