export {
  InvalidEventError,
  readAttributes,
  readBytes,
  readEvent,
  readText,
  type CloudEvent,
} from './cloud-event.js';
export { readEventMap } from './event-map-file.js';
export { EventMapping, EventMappingError, type EventRule, type EventTarget } from './event-mapping.js';
export { EventsModule, type EventsAsyncOptions } from './events.module.js';
export type { EventFact, EventListener } from './facts.js';
export { EventConsumer } from './in/event-consumer.js';
export { InboundEventStream } from './in/inbound-event-stream.js';
export { Intake, type EventResult } from './intake.js';
export { EVENT_DEFAULTS, EventOptions } from './options.js';
export { OutboundEventStream, type OutboundEntry } from './out/outbound-event-stream.js';
export { StreamPublisher, type StreamPublisherOptions } from './out/stream-publisher.js';
export { PUBLISH_LEVELS, type PublishLevel } from './out/outbound-event.js';
