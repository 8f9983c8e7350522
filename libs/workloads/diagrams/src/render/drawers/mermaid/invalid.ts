import { DiagramInvalid, type Place } from '../../errors.js';

/** What its two kinds of parsers say. */
interface MermaidError {
  readonly message: string;
  readonly hash?: { readonly loc?: { readonly first_line?: number; readonly first_column?: number } };
  readonly result?: {
    readonly lexerErrors?: readonly { readonly line?: number; readonly column?: number }[];
    readonly parserErrors?: readonly {
      readonly token: { readonly startLine?: number; readonly startColumn?: number };
    }[];
  };
}

export interface PlainError extends Place {
  readonly message: string;
}

/** Plain data of an error, which crosses the border of a page. A page is given its text: it refers to nothing outside itself. */
export function plainError(error: unknown): PlainError {
  const { message, hash, result } = error as MermaidError;
  const lexer = result?.lexerErrors?.[0];
  const token = result?.parserErrors?.[0]?.token;
  const loc = hash?.loc;
  const line = lexer ? lexer.line : (token?.startLine ?? loc?.first_line);
  const column = lexer ? lexer.column : (token?.startColumn ?? (loc?.first_column ?? NaN) + 1);
  // At the end of a source they have no place, and say NaN.
  const known = (place?: number): number | undefined => (Number.isInteger(place) ? place : undefined);
  return { message, line: known(line), column: known(column) };
}

export function mermaidInvalid({ message, ...place }: PlainError): DiagramInvalid {
  // So it writes the entities of a source to itself.
  return new DiagramInvalid(message.replace(/ﬂ°°?(\w+)¶ß/g, '#$1;'), place);
}
