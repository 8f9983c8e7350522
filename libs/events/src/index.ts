export {
  InvalidEventError,
  readAttributes,
  readBytes,
  readEvent,
  readText,
  type CloudEvent,
} from './cloud-event.js';
export { readEventMap } from './event-map.file.js';
export { EventMapping, EventMappingError, type EventRule, type EventTarget } from './event-mapping.js';
export { EventsModule, type EventsAsyncOptions } from './events.module.js';
export type { EventFact, EventListener } from './facts.js';
export { EventConsumer } from './in/event.consumer.js';
export { InStream } from './in/in-stream.js';
export { Intake, type EventResult } from './intake.js';
export { EVENT_DEFAULTS, EventOptions } from './options.js';
export { EventsOut, type EventsOutOptions } from './out/events-out.js';
export { TELL, type Tell } from './out/outgoing.js';
