export { ApiProblem } from '#http';
