# Stand in for the official nginx: the distribution's nginx, which writes its first messages to standard error.
FROM referee-base
RUN ln -sf /dev/stdout /var/log/nginx/access.log && ln -sf /dev/stderr /var/log/nginx/error.log
STOPSIGNAL SIGQUIT
CMD ["nginx", "-g", "daemon off;"]
