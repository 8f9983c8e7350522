import { render } from 'preact';
import { App } from './app.js';
import { enter } from './data/session.js';
import { applyTheme } from './shell/theme.js';
import './styles/colors.css';
import './styles/base.css';
import './styles/frame.css';
import './styles/shell.css';
import './styles/panels.css';
import './styles/lists.css';
import './styles/content.css';

applyTheme();
render(<App />, document.body);
void enter();
