export { DiagramsApiModule } from './diagrams-api.module.js';
