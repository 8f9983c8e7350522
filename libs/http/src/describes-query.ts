import { applyDecorators } from '@nestjs/common';
import { ApiQuery } from '@nestjs/swagger';
import { z } from 'zod';

/** Describes the parameters of a query that one schema reads. Swagger does not see what is in it. */
export function DescribesQuery(query: z.ZodObject): MethodDecorator {
  const parameters = Object.entries(query.shape).map(([name, field]) => {
    const {
      $schema: _,
      description,
      ...schema
    } = z.toJSONSchema(field, { io: 'input', unrepresentable: 'any' });
    const described = description === undefined ? {} : { description };
    return ApiQuery({ name, required: false, schema: schema as object, ...described });
  });
  return applyDecorators(...parameters);
}
