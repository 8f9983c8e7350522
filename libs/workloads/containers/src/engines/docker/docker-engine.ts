import { setTimeout as pause } from 'node:timers/promises';
import type Docker from 'dockerode';
import {
  carries,
  ContainerEngine,
  EngineUnavailable,
  NoSuchImage,
  type Container,
  type ContainerSpec,
} from '../container-engine.js';
import { InspectAnswer, ListAnswer, type Inspected } from './answers.js';
import { containerOptions, type Caps } from './container-options.js';
import { digestOf, openDockerClient } from './docker-client.js';
import { isRefusal, limited, orGone, UNCHANGED, wordsOf } from './limited.js';

const CALL_MS = 10_000;
/** Time limit for several calls, as a multiple of one. */
const CREATE_TIMES = 3;
const CREATE_TRIES = 5;
const REMOVING_MS = 100;
/** A name or an id prefix could match another container. */
const ID = /^[0-9a-f]{64}$/;
const NO_IMAGE = /no such image|image not known/i;
const NO_PROGRAM = /executable file .*not found|exec: .*no such file/i;
const [NOT_FOUND, CONFLICT] = [404, 409];

/**
 * Docker, Podman, or another engine with Docker's API. Images are never pulled: the operator decides what may
 * run here.
 */
export class DockerEngine extends ContainerEngine {
  readonly name = 'docker';
  private readonly docker: Docker;

  constructor(
    private readonly dockerHost: string,
    private readonly caps: Caps,
    private readonly callMs = CALL_MS,
  ) {
    super();
    this.docker = openDockerClient(dockerHost);
  }

  override async place(): Promise<string> {
    return digestOf(this.dockerHost);
  }

  create(spec: ContainerSpec, outer: AbortSignal): Promise<Container> {
    return limited('make a container', this.callMs * CREATE_TIMES, outer, async (signal) => {
      for (let tries = 0; tries < CREATE_TRIES; tries += 1) {
        await this.make(spec, signal);
        const made = await this.started(spec, signal);
        if (made) return made;
      }
      throw new EngineUnavailable(`The name ${spec.name} is taken and given up again and again.`);
    });
  }

  find(id: string, outer: AbortSignal): Promise<Container | undefined> {
    return limited('look at a container', this.callMs, outer, async (signal) =>
      ID.test(id) ? (await this.inspect(id, signal))?.container : undefined,
    );
  }

  named(name: string, outer: AbortSignal): Promise<Container | undefined> {
    return limited(
      'look for a name',
      this.callMs,
      outer,
      async (signal) => (await this.holder(name, signal))?.container,
    );
  }

  list(label: string, outer: AbortSignal): Promise<readonly Container[]> {
    return limited('list containers', this.callMs, outer, async (abortSignal) => {
      const filters = { label: [label] };
      const answer = await this.docker.listContainers({ all: true, filters, abortSignal });
      // Filtered again, because a proxy may ignore filters.
      return ListAnswer.parse(answer).filter(({ labels }) => carries(labels, label));
    });
  }

  stop(id: string, outer: AbortSignal): Promise<void> {
    return limited('stop a container', this.callMs, outer, async (abortSignal) => {
      if (ID.test(id)) await orGone(this.docker.getContainer(id).stop({ t: 1, abortSignal }), UNCHANGED);
    });
  }

  remove(id: string, outer: AbortSignal): Promise<void> {
    return limited('remove a container', this.callMs, outer, async (signal) => {
      while (ID.test(id) && (await this.isRemoving(id, signal)))
        await pause(REMOVING_MS, undefined, { signal });
    });
  }

  /** Ignores a taken name, which Docker reports as a conflict and Podman as a generic error. */
  private async make(spec: ContainerSpec, abortSignal: AbortSignal): Promise<void> {
    try {
      await this.docker.createContainer({ ...containerOptions(spec, this.caps), abortSignal });
    } catch (error) {
      if (!isRefusal(error)) throw error;
      if (error.statusCode === NOT_FOUND && NO_IMAGE.test(wordsOf(error)))
        throw new NoSuchImage(
          `The engine has no image "${spec.image}", and none is pulled. Run: docker pull ${spec.image}`,
          { cause: error },
        );
      if (error.statusCode !== CONFLICT && !/already in use/.test(wordsOf(error))) throw error;
    }
  }

  /**
   * If the process dies after the create call, the container stays unstarted under its name and the next
   * attempt starts it.
   */
  private async started(spec: ContainerSpec, abortSignal: AbortSignal): Promise<Container | undefined> {
    const held = await this.holder(spec.name, abortSignal);
    if (!held?.isUnstarted || !isAsAsked(held.container, spec)) return held?.container;
    const { id } = held.container;
    try {
      await orGone(this.docker.getContainer(id).start({ abortSignal }), UNCHANGED);
    } catch (error) {
      if (!isRefusal(error) || !NO_PROGRAM.test(wordsOf(error))) throw error;
      await this.remove(id, abortSignal);
      throw new NoSuchImage(`The image "${spec.image}" cannot be kept idle: it has no \`tail\`.`, {
        cause: error,
      });
    }
    return (await this.inspect(id, abortSignal))?.container;
  }

  private async holder(name: string, signal: AbortSignal): Promise<Inspected | undefined> {
    const found = await this.inspect(name, signal);
    // The engine also matches id prefixes.
    return found?.container.name === name ? found : undefined;
  }

  private async inspect(idOrName: string, abortSignal: AbortSignal): Promise<Inspected | undefined> {
    const container = this.docker.getContainer(encodeURIComponent(idOrName));
    const answer = await orGone(container.inspect({ abortSignal }));
    return answer === undefined ? undefined : InspectAnswer.parse(answer);
  }

  /** True if another removal is in progress. */
  private async isRemoving(id: string, abortSignal: AbortSignal): Promise<boolean> {
    try {
      await orGone(this.docker.getContainer(id).remove({ force: true, v: true, abortSignal }));
      return false;
    } catch (error) {
      if (isRefusal(error) && error.statusCode === CONFLICT) return true;
      throw error;
    }
  }
}

function isAsAsked({ labels }: Container, spec: ContainerSpec): boolean {
  return Object.entries(spec.labels).every(([key, value]) => labels[key] === value);
}
