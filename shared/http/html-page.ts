import { createHash } from 'node:crypto';
import type { ApiResponse } from './api-response.ts';

/** Text of a page that is HTML already: anything else is escaped. */
export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

type Part = string | number | Html | readonly Html[];

/** A piece of a page. What is put into it is escaped, also in attributes within double quotes, unless it is HTML itself. */
export function html(texts: TemplateStringsArray, ...parts: readonly Part[]): Html {
  return new Html(texts.map((text, index) => (index === 0 ? '' : format(parts[index - 1])) + text).join(''));
}

function format(part: Part | undefined): string {
  if (part instanceof Html) return part.text;
  if (typeof part === 'object') return part.map(({ text }) => text).join('');
  return String(part ?? '').replaceAll(/[&<>"']/g, (char) => `&#${char.charCodeAt(0)};`);
}

const style = `
:root { color-scheme: light dark; font: 15px/1.45 system-ui, sans-serif; }
body { margin: 1.5rem auto; max-width: 78rem; padding: 0 1rem; }
h1 { font-size: 1.3rem; } h2 { font-size: 1.05rem; margin-top: 2rem; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; }
th, td { border-bottom: 1px solid #8884; padding: .3rem .8rem .3rem 0; text-align: left; vertical-align: top; }
td.line { min-width: 22rem; overflow-wrap: anywhere; }
pre { background: #8882; max-height: 40rem; overflow: auto; padding: .8rem; }
.bad { color: light-dark(#b00020, #ff8a80); } .good { color: light-dark(#17692b, #81c995); }
`;

/** A page that needs no script. */
export function toPage(title: string, body: Html): ApiResponse {
  const page = html`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${title}</title><style>${new Html(style)}</style></head>
<body>${body}</body></html>
`;
  const styleHash = createHash('sha256').update(style).digest('base64');
  // Nothing is loaded, run, sent or framed: a page is a text with this one style.
  const policy = `default-src 'none'; style-src 'sha256-${styleHash}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;
  return {
    status: 200,
    contentType: 'text/html;charset=UTF-8',
    headers: {
      'Content-Security-Policy': policy,
      'Cache-Control': 'no-store',
      'Referrer-Policy': 'no-referrer',
    },
    body: page.text,
  };
}
