import { ForEverybody } from '#http';
import { Controller, Get, Header } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import { PAGE, POLICY } from './demo.page.js';

/** A page to try it with. */
@ApiExcludeController()
@Controller('demo/sites')
@ForEverybody()
export class DemoController {
  @Get()
  @Header('content-type', 'text/html; charset=utf-8')
  @Header('content-security-policy', POLICY)
  @Header('x-content-type-options', 'nosniff')
  @Header('referrer-policy', 'no-referrer')
  @Header('cache-control', 'no-cache')
  page(): string {
    return PAGE;
  }
}
