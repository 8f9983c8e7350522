import { render } from 'preact';
import { App } from './app.js';
import { enter } from './data/session.js';
import { applyTheme } from './shell/theme.js';
import './styles/base.css';
import './styles/shell.css';
import './styles/parts.css';

applyTheme();
render(<App />, document.body);
void enter();
