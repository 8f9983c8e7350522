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

export function mermaidInvalid(error: unknown): DiagramInvalid {
  const { message } = error as MermaidError;
  // So it writes the entities of a source to itself.
  const readable = message.replace(/ﬂ°°?(\w+)¶ß/g, '#$1;');
  return new DiagramInvalid(readable, placeOf(error as MermaidError));
}

/** Plain data of it, which crosses the border of a page. */
export function plainError(error: unknown): MermaidError {
  const { message, hash, result } = error as MermaidError;
  const [lexer] = result?.lexerErrors ?? [];
  const [parser] = result?.parserErrors ?? [];
  const { first_line: line, first_column: column } = hash?.loc ?? {};
  return {
    message,
    hash: {
      loc: {
        ...(line !== undefined && { first_line: line }),
        ...(column !== undefined && { first_column: column }),
      },
    },
    result: {
      lexerErrors: lexer ? [{ ...lexer }] : [],
      parserErrors: parser ? [{ token: { ...parser.token } }] : [],
    },
  };
}

function placeOf({ hash, result }: MermaidError): Place {
  const [lexer] = result?.lexerErrors ?? [];
  if (lexer) return known(lexer.line, lexer.column);
  const [parser] = result?.parserErrors ?? [];
  if (parser) return known(parser.token.startLine, parser.token.startColumn);
  const { first_line: line, first_column: column } = hash?.loc ?? {};
  return known(line, column === undefined ? undefined : column + 1);
}

/** At the end of a source they have no place, and say NaN. */
function known(line: number | undefined, column: number | undefined): Place {
  return {
    line: Number.isInteger(line) ? line : undefined,
    column: Number.isInteger(column) ? column : undefined,
  };
}
