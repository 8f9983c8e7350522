export { perform, type Performed, type PerformOptions } from './perform.js';
export { MooringRecorder, type RecordedCancel, type RecordedJob } from './recorder.js';
