import { describe, expect, it } from 'vitest';
import { ApiDocument, ApiNotDescribedError } from './api-document.js';

describe('the description of the api', () => {
  it('says what to call when it was asked for before it knows the application', () => {
    expect(() => new ApiDocument().json).toThrow(ApiNotDescribedError);
    expect(() => new ApiDocument().yaml).toThrow(/Call ApiDocument\.describe\(app\)/);
  });
});
