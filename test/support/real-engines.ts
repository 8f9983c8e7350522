/** The container engines that `npm run test:engines` started, and the faults they can be asked for. */
export class RealEngine {
  private constructor(
    readonly name: string,
    /** In the form of `DOCKER_HOST`. */
    readonly host: string,
  ) {}

  static all(): RealEngine[] {
    const hosts = JSON.parse(process.env['TEST_DOCKER_HOSTS'] ?? '{}') as Record<string, string>;
    return Object.entries(hosts).map(([name, host]) => new RealEngine(name, host));
  }

  restart(): Promise<void> {
    return this.told('restart');
  }

  /** Accepts connections and never answers until it is thawed. */
  freeze(): Promise<void> {
    return this.told('freeze');
  }

  thaw(): Promise<void> {
    return this.told('thaw');
  }

  private async told(verb: string): Promise<void> {
    const answer = await fetch(`${process.env['TEST_ENGINES_CONTROL']}/${this.name}/${verb}`, {
      method: 'POST',
    });
    if (!answer.ok) throw new Error(await answer.text());
  }
}
