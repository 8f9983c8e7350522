import { describe, expect, it } from 'vitest';
import { ApiDocument, ApiNotDescribedError } from './api-document.js';

describe('ApiDocument', () => {
  it('throws an error that names the missing call if it is read before describe()', () => {
    expect(() => new ApiDocument().json).toThrow(ApiNotDescribedError);
    expect(() => new ApiDocument().yaml).toThrow(/Call ApiDocument\.describe\(app\)/);
  });
});
