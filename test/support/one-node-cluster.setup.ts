import { splitCleanUps } from './one-node-cluster.js';

splitCleanUps();
