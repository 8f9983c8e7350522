export { demoPage } from './demo-page.js';
