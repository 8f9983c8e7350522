import { Canceller, type Receipt } from '#lifecycle';
import { Controller, Get, Param } from '@nestjs/common';
import { ApiBearerAuth, ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { Needs } from '../auth/api-key.guard.js';
import { ApiProblem } from '../problem.js';
import { ReceiptAnswer } from './cancellations-schemas.js';

/** Read the current receipt of a cancellation. */
@ApiTags('cancellations')
@ApiBearerAuth()
@Controller('v1/cancellations')
export class CancellationsController {
  constructor(private readonly canceller: Canceller) {}

  @Get(':cancelId')
  @Needs('read')
  @ApiOkResponse({ standardSchema: ReceiptAnswer })
  async read(@Param('cancelId') cancelId: string): Promise<Receipt> {
    const receipt = await this.canceller.receipt(cancelId);
    if (!receipt)
      throw new ApiProblem(
        404,
        'NOT_FOUND',
        'There is no cancellation with this id, or it is more than 7 days old.',
      );
    return receipt;
  }
}
