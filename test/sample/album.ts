import { Injectable } from '@nestjs/common';

/** The data of the application, on which the effect of its jobs is visible. */
@Injectable()
export class Album {
  files: string[] = [];
  letters: string[] = [];
}
