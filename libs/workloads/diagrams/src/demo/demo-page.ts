import { SCRIPT } from './demo-script.js';
import { STYLE } from './demo-style.js';

/** The whole page. The content security policy allows only this style and this script. */
export const PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Mooring: diagrams</title>
<link rel="icon" href="data:,">
<style>${STYLE}</style>
</head>
<body>
<header>
<h1>Type on the left, look at the right</h1>
<p>What you type becomes a job; its picture is kept under a short link. The same text again is no second job: it is in the cache.</p>
</header>
<main>
<section aria-labelledby="write">
<h2 id="write">Source</h2>
<p class="choices">
<label>Example <select id="example"></select></label>
<label>Type <select id="type"></select></label>
<label>Output <select id="output"><option>svg</option><option>png</option></select></label>
</p>
<textarea id="source" spellcheck="false" aria-label="Source"></textarea>
<p id="said" role="status"></p>
<details><summary>The api asks for a key</summary><form id="form"><label>Key <input id="key" type="password" autocomplete="off"></label></form></details>
</section>
<section aria-labelledby="see">
<h2 id="see">Picture</h2>
<p id="facts"></p>
<figure><img id="picture" alt=""></figure>
<p><a id="link" target="_blank" rel="noopener" hidden>Its short link</a></p>
</section>
</main>
<script>${SCRIPT}</script>
</body>
</html>
`;
