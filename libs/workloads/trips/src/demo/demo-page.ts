import { SCRIPT } from './demo-script.js';
import { STYLE } from './demo-style.js';

/** The whole page. The content security policy allows only this style and this script. */
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
<p>Each ride is offered to all three drivers, and one can accept it. When the ride ends, it disappears from every phone at once. A driver with a ride
or an offer gets the next one when they are free.</p>
</header>
<main>
<section class="rider" aria-labelledby="rider">
<h2 id="rider">Rida, the customer</h2>
<button id="ask" type="button">Ask for a ride</button>
<ul id="trips"></ul>
<p id="said" role="status"></p>
<details><summary>The api requires a key</summary><label>Key <input id="key" type="password" autocomplete="off"></label></details>
</section>
<section class="phones" id="phones" aria-label="The drivers' phones"></section>
</main>
<script>${SCRIPT}</script>
</body>
</html>
`;
