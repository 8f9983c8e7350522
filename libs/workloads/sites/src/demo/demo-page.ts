import { SCRIPT } from './demo-script.js';
import { STYLE } from './demo-style.js';

/** The whole page. The content security policy allows only this style and this script. */
export const PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Mooring: sites</title>
<link rel="icon" href="data:,">
<style>${STYLE}</style>
</head>
<body>
<header>
<h1>Fifty-one changes, two builds</h1>
<p>Every change of an entity requests a build of its site. A waiting build covers all changes so far; a change after a build has begun leads to one more.
There is no timer and no delay. On this page a build takes three seconds, so that you can watch it.</p>
</header>
<main>
<section aria-labelledby="do">
<h2 id="do">Actions</h2>
<p class="buttons">
<button id="import" type="button">Import 51</button>
<button id="edit" type="button" disabled>Change one</button>
<button id="remove" type="button" disabled>Delete the site</button>
</p>
<dl>
<div><dt>changes</dt><dd id="changes">0</dd></div>
<div><dt>builds</dt><dd id="count">0</dd></div>
<div><dt>routes</dt><dd id="routes">0</dd></div>
</dl>
<h2>Builds</h2>
<ol id="builds"></ol>
<p id="said" role="status"></p>
<details><summary>The api requires a key</summary><form id="form"><label>Key <input id="key" type="password" autocomplete="off"></label></form></details>
</section>
<section aria-labelledby="see">
<h2 id="see">What readers get</h2>
<iframe id="site" title="The built site"></iframe>
</section>
</main>
<script>${SCRIPT}</script>
</body>
</html>
`;
