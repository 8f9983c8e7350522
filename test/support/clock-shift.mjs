// Loaded before an app: its clock is wrong by CLOCK_SHIFT_MS, as on a machine whose clock was never set.
const shift = Number(process.env['CLOCK_SHIFT_MS']);
const RealDate = Date;

globalThis.Date = class Date extends RealDate {
  constructor(...given) {
    if (given.length === 0) super(RealDate.now() + shift);
    else super(...given);
  }

  static now() {
    return RealDate.now() + shift;
  }
};
