import { isUuid } from '#workload-kit';
import { Injectable } from '@nestjs/common';
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Container, ContainerSpec } from './engines/container-engine.js';
import { LeaseRepository } from './lease-repository.js';

const FLEET = 'mooring.fleet';
const LEASE = 'mooring.lease';
const FENCE = 'mooring.fence';
const SIGNATURE = 'mooring.signature';

/** What the fleet signs with. */
export abstract class FleetSecret {
  /** Undefined to use the one kept in the store. */
  abstract readonly given: string | undefined;
}

/**
 * Recognises the containers of this fleet. Each carries its lease, the lease's number, and a signature over
 * both and its name. Labels copied to a container of another name are invalid, and a name alone proves
 * nothing. Signing is deterministic.
 */
@Injectable()
export class FleetSignature {
  private readonly prefix: string;
  private secret: Promise<string> | undefined;

  constructor(
    private readonly leases: LeaseRepository,
    private readonly configured: FleetSecret,
  ) {
    this.prefix = leases.prefix;
  }

  /** The label by which all containers of this fleet are listed. */
  get label(): string {
    return `${FLEET}=${this.prefix}`;
  }

  nameOf(leaseId: string): string {
    return `lease-${this.prefix}-${leaseId}`;
  }

  /** The name is derived from the lease, so that a repeated create makes no second container. */
  async sign(leaseId: string, image: string, fence: string): Promise<ContainerSpec> {
    const name = this.nameOf(leaseId);
    const labels = { [FLEET]: this.prefix, [LEASE]: leaseId, [FENCE]: fence };
    return { name, image, labels: { ...labels, [SIGNATURE]: await this.over(leaseId, fence, name) } };
  }

  /** The lease of a container with a valid signature; otherwise undefined, whatever its name. */
  async leaseOf({ name, labels }: Container): Promise<string | undefined> {
    const { [FLEET]: fleet, [LEASE]: leaseId = '', [FENCE]: fence = '', [SIGNATURE]: given = '' } = labels;
    if (fleet !== this.prefix || !isUuid(leaseId) || name !== this.nameOf(leaseId)) return undefined;
    const [right, shown] = [Buffer.from(await this.over(leaseId, fence, name)), Buffer.from(given)];
    return shown.length === right.length && timingSafeEqual(shown, right) ? leaseId : undefined;
  }

  private async over(leaseId: string, fence: string, name: string): Promise<string> {
    const text = JSON.stringify([this.prefix, leaseId, fence, name]);
    return createHmac('sha256', await this.key())
      .update(text)
      .digest('hex');
  }

  private async key(): Promise<string> {
    if (this.configured.given !== undefined) return this.configured.given;
    this.secret ??= this.leases.secret().catch((error: unknown) => {
      this.secret = undefined;
      throw error;
    });
    return this.secret;
  }
}
