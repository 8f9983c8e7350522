# One image for every app; the command selects the one that runs. See deploy/README.md.
# For a release, pin the base: --build-arg NODE_IMAGE=node:20-bookworm-slim@sha256:…
ARG NODE_IMAGE=node:20-bookworm-slim

FROM ${NODE_IMAGE} AS manifests
WORKDIR /app
COPY package.json package-lock.json .npmrc ./

FROM manifests AS build
# No package needs its install script, and a script that does not run cannot do harm.
RUN npm ci --ignore-scripts
COPY tsconfig.json tsconfig.build.json ./
COPY scripts scripts
COPY libs libs
COPY apps apps
COPY bench bench
RUN npm run build

FROM manifests AS production-deps
# npm keeps the compiler as an optional peer of @nestjs/swagger, although only its build plugin would use it.
RUN npm ci --omit=dev --ignore-scripts && rm -rf node_modules/typescript node_modules/.bin

FROM ${NODE_IMAGE} AS final
# Nothing here installs packages at run time.
RUN rm -rf /usr/local/lib/node_modules /opt/yarn-* \
  /usr/local/bin/npm /usr/local/bin/npx /usr/local/bin/corepack /usr/local/bin/yarn /usr/local/bin/yarnpkg
WORKDIR /app
COPY package.json ./
COPY deploy/healthcheck.mjs deploy/
COPY --from=production-deps /app/node_modules node_modules
COPY --from=build /app/dist/libs dist/libs
COPY --from=build /app/dist/apps dist/apps
COPY --from=build /app/dist/packed dist/packed

# A volume that is mounted here belongs to the user of the container.
RUN install -d -o node -g node -m 0700 /artifacts

# HEALTH_PORT: where worker and janitor serve their health; unset, they would take any free port.
# SHUTDOWN_READY_DELAY: the time that a load balancer needs to notice that the api is not ready any more.
ENV NODE_ENV=production PORT=3000 HEALTH_PORT=3000 ARTIFACTS_URL=file:/artifacts SHUTDOWN_READY_DELAY=5s
EXPOSE 3000
USER node
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=5s --start-period=20s --retries=3 CMD ["node", "deploy/healthcheck.mjs"]
CMD ["node", "dist/packed/api.js"]
