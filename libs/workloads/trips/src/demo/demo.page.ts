import { SCRIPT } from './demo.script.js';
import { STYLE } from './demo.style.js';

/** The whole page: nothing comes from elsewhere, and nothing runs that is not in it. */
export const PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Mooring: trips</title>
<link rel="icon" href="data:,">
<style>${STYLE}</style>
</head>
<body>
<header>
<h1>One ride, three drivers</h1>
<p>A ride is offered to all three, and taken by one. Whatever ends it takes it from every phone at once. Who drives, or has an offer already, gets the
next one when he is free.</p>
</header>
<main>
<section class="rider" aria-labelledby="rider">
<h2 id="rider">Rida, who wants a ride</h2>
<button id="ask" type="button">Ask for a ride</button>
<ul id="trips"></ul>
<p id="said" role="status"></p>
<details><summary>The api asks for a key</summary><label>Key <input id="key" type="password" autocomplete="off"></label></details>
</section>
<section class="phones" id="phones" aria-label="The drivers' phones"></section>
</main>
<script>${SCRIPT}</script>
</body>
</html>
`;
