import { ForEverybody, SelfContainedPage } from '#http';
import { Controller } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import { PAGE } from './demo-page.js';
import { SCRIPT } from './demo-script.js';
import { STYLE } from './demo-style.js';

/** The trips demo page. */
@ApiExcludeController()
@Controller('demo/trips')
@ForEverybody()
export class DemoController {
  @SelfContainedPage({ script: SCRIPT, style: STYLE })
  page(): string {
    return PAGE;
  }
}
