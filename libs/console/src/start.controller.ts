import { ForEverybody, notFound, ProblemFilter, Touches } from '#http';
import { Controller, Get, Headers, Redirect, UseFilters } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';

/** Leads a person to the console. A program is told that there is nothing here. */
@ApiExcludeController()
@Controller()
@ForEverybody()
@Touches('nothing')
@UseFilters(ProblemFilter)
export class StartController {
  @Get()
  @Redirect('console', 302)
  start(@Headers('accept') accept = ''): void {
    if (!accept.includes('text/html')) throw notFound('There is nothing at this path.');
  }
}
