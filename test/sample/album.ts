import { Injectable } from '@nestjs/common';

/** What the application is about: where the work of its jobs shows. */
@Injectable()
export class Album {
  files: string[] = [];
  letters: string[] = [];
}
