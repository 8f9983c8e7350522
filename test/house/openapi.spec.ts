import { describe, expect, it } from 'vitest';
import { Contract, type Operation } from '../support/contract.js';

const contract = new Contract();
/** For requests, which may have members that are not described. */
const open = new Contract(false);
const JSON_TYPE = 'application/json';

describe('docs/openapi.json', () => {
  it('describes every operation', () => {
    const undescribed = contract.operations
      .filter(
        ([, { operationId, summary, description, tags }]) =>
          !operationId || !summary || !description || !tags,
      )
      .map(([name]) => `${name}: add it to the description of its controller (@Describes).`);
    expect(undescribed).toEqual([]);
    expect(namesOf(({ parameters = [] }) => parameters.some(({ description }) => !description))).toEqual([]);
    expect(namesOf(({ requestBody }) => contentsOf(requestBody).some(hasNoExample))).toEqual([]);
    const answered = ({ responses }: Operation): Exampled[] =>
      Object.entries(responses).flatMap(([status, response]) => (status < '300' ? contentsOf(response) : []));
    expect(namesOf((operation) => answered(operation).some(hasNoExample))).toEqual([]);
  });

  it('has examples that its schemas accept', () => {
    const invalid = contract.operations.flatMap(([name, operation]) => {
      const { requestBody, responses } = operation;
      const answers = Object.keys(responses).flatMap((status) =>
        contentsOf(contract.responseOf(operation, status)),
      );
      return [
        ...contentsOf(requestBody).map((each) => [open, each] as const),
        ...answers.map((each) => [contract, each] as const),
      ]
        .flatMap(([by, { schema = {}, ...shown }]) =>
          valuesOf(shown).map((value) => by.invalid(schema, value)),
        )
        .flatMap((trouble) => (trouble === undefined ? [] : [`${name}: ${trouble}`]));
    });
    expect(invalid).toEqual([]);
  });
});

function namesOf(isIncomplete: (operation: Operation) => boolean): string[] {
  return contract.operations.filter(([, operation]) => isIncomplete(operation)).map(([name]) => name);
}

interface Exampled {
  readonly schema?: object;
  readonly example?: unknown;
  readonly examples?: object;
}

function contentsOf(
  message: { readonly content?: Readonly<Record<string, Exampled>> } | undefined,
): Exampled[] {
  const { [JSON_TYPE]: plain, 'application/problem+json': problem } = message?.content ?? {};
  return [plain, problem].filter((each) => each !== undefined);
}

function hasNoExample({ example, examples }: Exampled): boolean {
  return example === undefined && examples === undefined;
}

function valuesOf({ example, examples = {} }: Exampled): unknown[] {
  const shown = (Object.values(examples) as { $ref?: string; value?: unknown }[]).map(({ $ref, value }) =>
    $ref === undefined ? value : contract.document.components.examples[$ref.split('/').at(-1)!]?.value,
  );
  return [...(example === undefined ? [] : [example]), ...shown];
}
