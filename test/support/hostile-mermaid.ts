/** Sources that try to make a browser run, load or follow something of `evil`, an address. */
export function hostileMermaid(evil: string): string[] {
  return [
    'graph TD\n A["<img src=x onerror=alert(1)>"] --> B\n click A href "javascript:alert(1)"',
    '%%{init: {"securityLevel": "loose", "htmlLabels": true}}%%\ngraph TD\n A["<script>alert(1)</script>"]\n click A call alert(1)',
    `graph TD\n A@{ img: "${evil}/a.png", label: "x", h: 60, w: 60 }`,
    `graph TD\n A["<img src='${evil}/b.png'/>"]\n style A fill:url(${evil}/c)`,
    `%%{init: {"themeCSS": "@import url(${evil}/d.css); * { background: url(${evil}/e) }"}}%%\ngraph TD\n A-->B`,
    `---\nconfig:\n  fontFamily: "x;} @import url(${evil}/f);"\n---\ngraph TD\n A-->B`,
    'sequenceDiagram\n A->>B: <foreignObject><iframe src="javascript:alert(1)"></iframe></foreignObject>',
    `graph TD\n A["\`**bold** [x](javascript:alert(1)) ![](${evil}/g)\`"]`,
    'graph TD\n A["&lt;script&gt;alert(1)&lt;/script&gt; #lt;img src=x onerror=alert(1)#gt;"]',
    '%%{init: {"__proto__": {"polluted": 1}, "constructor": {"prototype": {"polluted": 1}}}}%%\ngraph TD\n A-->B',
  ];
}
